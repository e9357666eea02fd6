"""Which skill solves which template of MiniWoB++, and why some are left out.

One table is of forms, lists, tables and mail. The other is of templates that need precise pointer
moves, timing, or a look at the picture.
"""

from generators.policy.teacher.primitives import (
    Skill,
)
from generators.policy.teacher.skills import (
    buying,
    choosing,
    clicking,
    colours,
    dates,
    dragging,
    drawing,
    forms,
    games,
    mail,
    reading,
    tic_tac_toe,
)
from generators.policy.teacher.skills import shapes as figures

PAGE_SKILLS: dict[str, Skill] = {
    "ascending-numbers": clicking.click_ascending,
    "book-flight": buying.book_flight,
    "book-flight-nodelay": buying.book_flight,
    "buy-ticket": buying.take_best,
    "choose-date": dates.choose_date,
    "choose-date-easy": dates.choose_date,
    "choose-date-medium": dates.choose_date,
    "choose-date-nodelay": dates.choose_date,
    "choose-list": choosing.choose_options,
    "click-button": clicking.click_button,
    "click-button-sequence": clicking.click_named_buttons,
    "click-checkboxes": choosing.tick,
    "click-checkboxes-large": choosing.tick,
    "click-checkboxes-soft": choosing.tick_similar,
    "click-checkboxes-transfer": choosing.tick,
    "click-collapsible": clicking.expand_and_submit,
    "click-collapsible-2": clicking.click_link_in_sections,
    "click-collapsible-2-nodelay": clicking.click_link_in_sections,
    "click-collapsible-nodelay": clicking.expand_and_submit,
    "click-dialog": clicking.click_in_dialog,
    "click-dialog-2": clicking.click_in_dialog,
    "click-link": clicking.click_link,
    "click-menu": clicking.walk_menu,
    "click-menu-2": clicking.use_menu,
    "click-option": choosing.tick,
    "click-scroll-list": choosing.choose_options,
    "click-tab": clicking.click_numbered_tab,
    "click-tab-2": clicking.click_link_behind_tabs,
    "click-tab-2-easy": clicking.click_link_behind_tabs,
    "click-tab-2-hard": clicking.click_link_behind_tabs,
    "click-tab-2-medium": clicking.click_link_behind_tabs,
    "click-test": clicking.click_only_button,
    "click-test-2": clicking.click_named_buttons,
    "click-test-transfer": clicking.click_named_buttons,
    "click-widget": clicking.click_widget,
    "daily-calendar": dates.create_event,
    "email-inbox": mail.handle_mail,
    "email-inbox-delete": mail.handle_mail,
    "email-inbox-forward": mail.handle_mail,
    "email-inbox-forward-nl": mail.handle_mail,
    "email-inbox-forward-nl-turk": mail.handle_mail,
    "email-inbox-important": mail.handle_mail,
    "email-inbox-nl-turk": mail.handle_mail,
    "email-inbox-noscroll": mail.handle_mail,
    "email-inbox-reply": mail.handle_mail,
    "email-inbox-star-reply": mail.handle_mail,
    "enter-date": dates.enter_date,
    "enter-password": forms.enter_quoted,
    "enter-text": forms.enter_quoted,
    "enter-text-2": forms.enter_quoted,
    "enter-text-dynamic": forms.enter_quoted,
    "enter-time": dates.enter_time,
    "find-greatest": reading.find_greatest,
    "find-word": reading.find_word,
    "focus-text": clicking.focus_text,
    "focus-text-2": clicking.focus_text,
    "form-sequence-2": choosing.pick_radio_and_write,
    "form-sequence-3": choosing.pick_from_dropdown,
    "generate-number": reading.generate_number,
    "login-user": forms.log_in,
    "login-user-popup": forms.log_in,
    "multi-layouts": forms.search_films,
    "multi-orderings": forms.search_films,
    "navigate-tree": clicking.open_tree,
    "order-food": buying.order_food,
    "phone-book": reading.look_up,
    "read-table": reading.read_value,
    "read-table-2": reading.read_values,
    "scroll-text": reading.find_last_word,
    "scroll-text-2": reading.scroll_text,
    "search-engine": reading.search,
    "simple-algebra": reading.solve,
    "simple-arithmetic": reading.calculate,
    "social-media": mail.use_post,
    "social-media-all": mail.use_posts,
    "social-media-some": mail.use_posts,
    "text-transform": reading.read_distorted,
    "unicode-test": clicking.click_button,
    "use-autocomplete": choosing.autocomplete,
    "use-autocomplete-nodelay": choosing.autocomplete,
    "use-spinner": choosing.spin,
}
"""Skills by template."""


HAND_SKILLS: dict[str, Skill] = {
    "bisect-angle": drawing.bisect_angle,
    "button-delay": games.press_after_delay,
    "chase-circle": games.follow_circle,
    "circle-center": drawing.mark_centre,
    "click-color": colours.click_colour,
    "click-pie": games.use_pie_menu,
    "click-pie-nodelay": games.use_pie_menu,
    "click-shades": colours.select_shades,
    "click-shape": figures.click_shape,
    "count-shape": figures.count_shapes,
    "count-sides": figures.count_sides,
    "drag-box": dragging.drag_into,
    "drag-circle": dragging.drag_in_direction,
    "drag-items": dragging.drag_item,
    "drag-items-grid": dragging.drag_item,
    "drag-shapes": figures.sort_shapes,
    "drag-shapes-2": figures.sort_shapes,
    "drag-single-shape": dragging.drag_in_direction,
    "drag-sort-numbers": dragging.sort_numbers,
    "draw-line": drawing.draw_line,
    "find-midpoint": drawing.mark_midpoint,
    "form-sequence": dragging.slide_and_tick,
    "grid-coordinate": drawing.click_coordinate,
    "guess-number": games.guess_number,
    "highlight-text": forms.select_paragraph,
    "highlight-text-2": forms.select_paragraph,
    "hot-cold": games.find_hot_spot,
    "identify-shape": figures.name_shape,
    "moving-items": games.click_moving,
    "number-checkboxes": figures.copy_number,
    "odd-or-even": figures.mark_parity,
    "resize-textarea": dragging.resize,
    "right-angle": drawing.make_right_angle,
    "sign-agreement": forms.sign,
    "simon-says": games.repeat_lights,
    "stock-market": games.buy_low,
    "terminal": forms.delete_file,
    "text-editor": forms.style_text,
    "tic-tac-toe": tic_tac_toe.win_game,
    "use-colorwheel": colours.enter_named_colour,
    "use-colorwheel-2": colours.enter_shown_colour,
    "use-slider": dragging.set_slider,
    "use-slider-2": dragging.set_sliders,
    "visual-addition": figures.add_blocks,
}
"""Skills by template."""


SKILLS: dict[str, Skill] = PAGE_SKILLS | HAND_SKILLS
"""The skill for each template of MiniWoB++ that the teacher attempts."""

UNRELIABLE: dict[str, str] = {
    "click-pie-nodelay": (
        "its first item, one of four to eight, takes no click: under a pointer it is drawn anew at "
        "every event; where the menu unfolds slowly, a click on the way gets through"
    ),
    "email-inbox-forward-nl-turk": (
        "one in thirty of its goals names sender and receiver the wrong way round, "
        "and its page wants them so"
    ),
    "stock-market": (
        "the price is seen every half second only, and one time in thirty never below the limit "
        "before the prices end"
    ),
    "tic-tac-toe": (
        "the opponent is attentive half of the time: the best play wins 97 of 100 games when it "
        "begins and 73 when the opponent does, and a draw counts as lost"
    ),
}
"""Templates that it attempts and does not always solve, with the reason."""

_FRAMED = "its form lies in a frame, and the reader reads the page alone"

_UNSEEN_END = "the text that it wants ends with a space, which no picture shows, and the teacher copies nothing"

IMPOSSIBLE: dict[str, str] = {
    "copy-paste": _UNSEEN_END,
    "copy-paste-2": _UNSEEN_END,
    "drag-cube": "the cube turns only while time passes with the button held down, and a drag is"
    " over before any time passes",
    "draw-circle": "a drag draws a straight line, and each new one wipes out the one before",
    "flight.AA": _FRAMED,
    "flight.Alaska": _FRAMED,
    "flight.Alaska-auto": _FRAMED,
    "flight.Alaska-auto-medium": _FRAMED,
    "hover-shape": "its page never ends: it has no reward, so nothing can be done on it",
}
"""Templates that it does not attempt, with the reason."""

NONDETERMINISTIC: dict[str, str] = {
    "chase-circle": "that the circle has run out from under a resting pointer is noticed when the"
    " browser draws a frame, which is in real time; so the reward differs in its third digit",
}
"""Templates whose episodes do not repeat exactly, with the reason."""
