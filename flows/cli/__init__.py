"""The command line: one module a command, and the only folder that imports argparse."""
