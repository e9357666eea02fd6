"""Which common words mean much the same: a pocket thesaurus for goals that ask for similar words.

A line is a group; two words are alike if one line holds both. It is knowledge of English, as
any reader has it, and not part of any page.
"""

_GROUPS = """
big large huge enormous gigantic
small tiny little mini petite
red scarlet crimson vermillion
happy cheerful joyful gleeful delighted
sad unhappy sorrowful miserable tragic
angry mad furious irritated
evil wicked immoral sinful corrupt depraved
wrong incorrect mistaken erroneous
real genuine actual
strange odd peculiar unusual weird
stop cease halt end finish
scared terrified panicked fearful frightened afraid
quiet calm peaceful serene mild
old aged archaic
love like adore favor
kill murder assassinate
keep retain preserve sustain maintain
hide conceal camouflage
hate despise loathe detest dislike
funny humorous amusing comical laughable
fat fleshy plump chubby
stupid dumb dull unwise
delicious savory delectable appetizing
cut slice carve chop
brave courageous fearless
begin start initiate launch
answer reply response
television televisions tv tvs
house home houses homes
fire flame fires flames
pig pork swine
rabbit rabbits bunny bunnies
car cars automobile automobiles vehicle vehicles
"""


def alike(one: str, other: str) -> bool:
    """Say whether two words mean much the same."""
    pair = {one.lower(), other.lower()}
    return len(pair) == 1 or any(pair <= set(line.split()) for line in _GROUPS.splitlines())
