"""A run in progress, from configuration to report; it knows neither Prefect nor argparse."""
