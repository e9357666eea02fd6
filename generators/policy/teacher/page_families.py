"""Which skill does which family of pages: buttons, forms, lists, tables, mail."""

from generators.policy.teacher import clicking, forms
from generators.policy.teacher.plan import Skill

PAGE_FAMILIES: dict[str, Skill] = {
    "ascending-numbers": clicking.click_ascending,
    "click-button": clicking.click_button,
    "click-button-sequence": clicking.click_named_buttons,
    "click-collapsible": clicking.unfold_and_submit,
    "click-collapsible-2": clicking.click_link_in_sections,
    "click-collapsible-2-nodelay": clicking.click_link_in_sections,
    "click-collapsible-nodelay": clicking.unfold_and_submit,
    "click-dialog": clicking.click_in_dialog,
    "click-dialog-2": clicking.click_in_dialog,
    "click-link": clicking.click_link,
    "click-tab": clicking.click_numbered_tab,
    "click-tab-2": clicking.click_link_behind_tabs,
    "click-tab-2-easy": clicking.click_link_behind_tabs,
    "click-tab-2-hard": clicking.click_link_behind_tabs,
    "click-tab-2-medium": clicking.click_link_behind_tabs,
    "click-test": clicking.click_only_button,
    "click-test-2": clicking.click_named_buttons,
    "click-test-transfer": clicking.click_named_buttons,
    "click-widget": clicking.click_widget,
    "enter-password": forms.enter_quoted,
    "enter-text": forms.enter_quoted,
    "enter-text-2": forms.enter_quoted,
    "enter-text-dynamic": forms.enter_quoted,
    "focus-text": clicking.focus_text,
    "focus-text-2": clicking.focus_text,
    "login-user": forms.log_in,
    "login-user-popup": forms.log_in,
    "navigate-tree": clicking.open_tree,
    "unicode-test": clicking.click_button,
}
"""Skills by family."""
