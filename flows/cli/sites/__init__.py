"""The subcommands of `stepmill sites`."""
