"""The flights that left New York City in 2013; README.md beside this file says where they come from."""
