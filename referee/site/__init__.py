"""Standings in, published pages out."""
