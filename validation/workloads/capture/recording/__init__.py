"""What runs inside the user's own process while `skel capture` watches it.

This folder stands alone: it is loaded by path into whatever Python the user's command starts, so it imports nothing
but the standard library, and torch and triton where they are used. It writes into a folder of its own a process, one
call at a time, so that a process that is killed leaves what it had recorded.
"""
