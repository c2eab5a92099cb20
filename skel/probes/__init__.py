"""Small programs that `skel doctor` runs, each in a process of its own, to see whether something really works."""
