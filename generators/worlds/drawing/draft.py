"""A world in the making: each part of its drawing adds to it, and it is checked once, when it is whole."""

from collections.abc import Sequence
from random import Random

from pydantic import ConfigDict

from schemas.worlds.world import Entity, View, World


class WorldDraft(World):
    """A world that can be changed; made by `model_construct`, which checks nothing."""

    model_config = ConfigDict(frozen=False)

    def add_table(self, entity: Entity, view: View, at: int | None = None) -> None:
        """Add an entity and the view of its rows; `at` is the view's place in the navigation, None: the last."""
        place = len(self.views) if at is None else at
        self.entities = (*self.entities, entity)
        self.views = (*self.views[:place], view, *self.views[place:])

    def draw_place(self, random: Random) -> int:
        """Return a place in the navigation that is not the first."""
        return random.randint(1, len(self.views))

    def names(self) -> set[str]:
        """Return the words that name things on pages, in small letters."""
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
        """Return some words that name nothing yet; the first where all do."""
        names = self.names()
        free = [words for words in among if words.casefold() not in names]
        return random.choice(free) if free else among[0]

    def draw_pair(self, pairs: Sequence[tuple[str, str]], random: Random) -> tuple[str, str] | None:
        """Return what one and several of a further entity are called; None: all words name something else."""
        names = self.names()
        free = [pair for pair in pairs if not names & {one.casefold() for one in pair}]
        return random.choice(free) if free else None

    def finish(self) -> World:
        """Return the world.

        Raises:
            ValidationError: it is none.
        """
        return World.model_validate_json(self.model_dump_json())
