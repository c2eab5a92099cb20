"""The agent backend: tools with schemas, long work as jobs, one door for MCP and for the command line.

errors      what a call may end with besides a result: stable codes
limits      every number
roots       which files may be read and written
confine     what the process that does the work may reach at all
tool        what a tool is; tools/ has one file each, registry lists them
session     the one door: checks, does, logs
jobs        queue, processes, waiting; runner is the process that does one job
feedback    findings that follow up others: which tile, which step, which figure
server      MCP over stdio; rendering prints the tools for agents without it
"""
