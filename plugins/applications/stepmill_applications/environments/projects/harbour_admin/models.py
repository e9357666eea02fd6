"""What the admin keeps: berths, ships, and their calls."""

from django.db import models


class Berth(models.Model):
    """A place where a ship lies."""

    quay = models.CharField(max_length=40)
    depth = models.DecimalField("depth in metres", max_digits=4, decimal_places=1)
    is_open = models.BooleanField("open", default=True)

    class Meta:
        """How it is sorted."""

        ordering = ("id",)

    def __str__(self) -> str:
        """Return its number and quay."""
        return f"Berth {self.pk} at the {self.quay}"


class Ship(models.Model):
    """A ship that calls."""

    name = models.CharField(max_length=40, unique=True)
    kind = models.CharField(
        max_length=20,
        choices=[(kind, kind) for kind in ("bulk carrier", "coaster", "tanker", "trawler")],
    )
    flag = models.CharField(max_length=20)
    length = models.PositiveIntegerField("length in metres")
    built = models.PositiveIntegerField()
    remarks = models.TextField(blank=True)

    class Meta:
        """How it is sorted."""

        ordering = ("name",)

    def __str__(self) -> str:
        """Return its name."""
        return str(self.name)


class Call(models.Model):
    """A ship's visit to a berth."""

    ship = models.ForeignKey(Ship, on_delete=models.CASCADE)
    berth = models.ForeignKey(Berth, on_delete=models.CASCADE)
    day = models.DateField()
    cargo = models.CharField(max_length=20)
    tonnes = models.PositiveIntegerField()

    class Meta:
        """How it is sorted."""

        ordering = ("-day", "id")

    def __str__(self) -> str:
        """Return who called and when."""
        return f"{self.ship} on {self.day}"
