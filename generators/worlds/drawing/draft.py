"""A world under construction: each stage of drawing adds to it, and `finish` validates it once."""

from collections.abc import Mapping, Sequence
from random import Random

from pydantic import ConfigDict

from generators.worlds.words.spoken_fields import spoken
from schemas.worlds.spoken import Spoken
from schemas.worlds.world import Entity, View, World


class WorldDraft(World):
    """A mutable world, made by `model_construct` without validation."""

    model_config = ConfigDict(frozen=False)

    def add_table(self, entity: Entity, view: View, at: int | None = None) -> None:
        """Add an entity and its view; `at` is the view's position in the navigation, None: the last."""
        place = len(self.views) if at is None else at
        self.entities = (*self.entities, entity)
        self.views = (*self.views[:place], view, *self.views[place:])

    def draw_place(self, random: Random) -> int:
        """Return a position in the navigation other than the first."""
        return random.randint(1, len(self.views))

    def names(self) -> set[str]:
        """Return all labels in use on pages, case-folded."""
        of_entities = (
            word
            for entity in self.entities
            for word in (
                entity.one,
                entity.many,
                *(label for field in entity.fields for label in (field.label, *field.choices)),
            )
        )
        of_steps = (step.label for flow in self.workflows for step in flow.transitions)
        of_all = (word for _, word in self.words)
        cart = self.cart
        of_cart = () if cart is None else (cart.add, cart.check_out, cart.line_sum, cart.total)
        views = (view.label for view in self.views)
        named = (*of_entities, *of_steps, *of_all, *of_cart, *views)
        return {word.casefold() for word in named}

    def draw_words(self, among: Sequence[str], random: Random) -> str:
        """Return a label that is not in use, or the first if all are."""
        names = self.names()
        free = [words for words in among if words.casefold() not in names]
        return random.choice(free) if free else among[0]

    def draw_pair(self, pairs: Sequence[tuple[str, ...]], random: Random) -> tuple[str, ...] | None:
        """Return a singular and plural, with what goes with them, for a further entity; None: all are in use."""
        names = self.names()
        free = [pair for pair in pairs if not names & {one.casefold() for one in pair[:2]}]
        return random.choice(free) if free else None

    def finish(self) -> World:
        """Return the world, with words for fields whose family has none.

        Raises:
            ValidationError: the specification is invalid.
        """
        known, ones = spoken(self.language), {one.name: one.one for one in self.entities}
        self.entities = tuple(_with_words(one, known, ones) for one in self.entities)
        return World.model_validate_json(self.model_dump_json())


def _with_words(entity: Entity, known: Mapping[str, Spoken], ones: Mapping[str, str]) -> Entity:
    """Return an entity whose fields have the words that people know for their labels, where they have none."""
    fields = (
        field
        if field.said or field.label not in known
        else field.model_copy(update=_about(known[field.label], ones.get(field.target or "", "")))
        for field in entity.fields
    )
    return entity.model_copy(update={"fields": tuple(fields)})


def _about(words: Spoken, target: str) -> dict[str, object]:
    """Return words by name, with what pages call the rows that the field leads to in the place of `{target}`."""
    one = target[:1].lower() + target[1:]
    filled = {
        name: tuple(phrase.replace("{target}", one) for phrase in getattr(words, name))
        for name in ("asks", "leads")
    }
    return {**words.spoken(), **filled}
