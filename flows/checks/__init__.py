"""Checks of sites, worlds and tasks before they are used."""
