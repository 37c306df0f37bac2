"""A fleet on one machine: hosts with run folders of their own, whose workers are child processes."""
