"""Apps that are attacked by tools from outside, each with a twin that has the hole which the tool must find."""
