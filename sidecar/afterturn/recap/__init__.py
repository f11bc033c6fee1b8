"""Recaps: one to three sentences for a person who was away (recap.md). Pure rules in small modules, one service."""
