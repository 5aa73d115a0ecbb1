"""Standings in, published pages out."""

from referee.site.about import About, Label
from referee.site.publish import publish

__all__ = ["About", "Label", "publish"]
