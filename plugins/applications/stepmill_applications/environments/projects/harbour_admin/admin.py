"""How the admin shows what it keeps."""

from typing import Any

from django.contrib import admin

from harbour_admin.models import Berth, Call, Ship

admin.site.site_header = "Harbour office"


@admin.action(description="Close selected berths")
def close_berths(_admin: Any, _request: Any, chosen: Any) -> None:
    """Close what was chosen."""
    chosen.update(is_open=False)


@admin.register(Berth)
class BerthAdmin(admin.ModelAdmin):
    """Berths."""

    actions = (close_berths,)
    list_display = ("__str__", "quay", "depth", "is_open")
    list_filter = ("quay", "is_open")


@admin.register(Ship)
class ShipAdmin(admin.ModelAdmin):
    """Ships."""

    list_display = ("name", "kind", "flag", "length", "built")
    list_filter = ("kind", "flag")
    search_fields = ("name",)


@admin.register(Call)
class CallAdmin(admin.ModelAdmin):
    """Calls."""

    date_hierarchy = "day"
    list_display = ("ship", "berth", "day", "cargo", "tonnes")
    list_filter = ("cargo",)
    search_fields = ("ship__name",)
