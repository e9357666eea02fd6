"""What tests of plug-ins stand on: what all tests stand on, without the user's own settings."""

from conftest import _own_settings, _prefect_set_up_anew

__all__ = ["_own_settings", "_prefect_set_up_anew"]
