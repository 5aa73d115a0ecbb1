"""Standings in, published pages out."""

from referee.site.about import About, Label, RoundNote, Withdrawn
from referee.site.publish import publish, publish_rounds

__all__ = ["About", "Label", "RoundNote", "Withdrawn", "publish", "publish_rounds"]
