"""The tools, one file each; `skel.agent.registry` lists them."""
