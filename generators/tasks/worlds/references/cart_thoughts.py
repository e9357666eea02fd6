"""What references think at carts: what a button is for there, and what may be thought before it is pressed."""

from generators.tasks.worlds.ground.world_rows import Setting
from schemas.worlds.patterns import Shape

SAID_OF_CARTS = {
    "put_in": (
        'This one has to be ordered, so I click "{on}".',
        '"{on}" puts one of it in.',
        'One of these is to be in the order: "{on}".',
    ),
    "put_in_listed": (
        "The list shows the one that has to be ordered; its button puts one in.",
        "I need not open its page: the button beside it puts one in.",
    ),
    "to_cart": (
        "All that has to be ordered was put in. I open what the navigation has for it, to see it together.",
        "Everything should lie together now; the link with the number leads there.",
    ),
    "check_out": (
        'Things and numbers are as the task wants them, so "{on}".',
        'Everything is in here as often as it should be: "{on}".',
    ),
}
"""What may be thought before a step, by its purpose; beside the cart's link stands a number, which may be clicked."""


def cart_purposes(setting: Setting) -> dict[str, str]:
    """Return the purpose of what a world's cart is used by, by its words."""
    world, cart = setting.world, setting.world.cart
    if cart is None:
        return {}
    titles = setting.titles(world.entity(cart.things))
    return {
        **{f"{cart.add}: {title}": "put_in_listed" for title in titles},
        **{world.words.increase.format(field=title): "count" for title in titles},
        cart.add: "put_in",
        cart.check_out: "check_out",
        **{view.label: "to_cart" for view in world.views if view.shape is Shape.CART},
    }
