"""Checks the JSON that cpprof prints against docs/json.schema.json."""
import json
from pathlib import Path

import jsonschema

SCHEMA = json.loads((Path(__file__).resolve().parents[2] / "docs/json.schema.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def unique(pairs):
	names = [name for name, _ in pairs]
	assert len(set(names)) == len(names), names
	return dict(pairs)


def valid_json(text):
	document = json.loads(text, object_pairs_hook=unique)
	VALIDATOR.validate(document)
	return document
