from pathlib import Path

from skel.validation.isolation.environment import package_root, scrubbed


def test_nothing_of_the_users_is_handed_on_but_what_is_listed() -> None:
    source = {
        "PATH": "/bin",
        "AWS_SECRET_ACCESS_KEY": "x",
        "https_proxy": "http://user:pass@proxy",
        "TRITON_CACHE_DIR": "/c",
    }
    made = scrubbed("interpret", Path("/s"), source)
    assert made["PATH"] == "/bin"
    assert "AWS_SECRET_ACCESS_KEY" not in made
    assert "pass" not in made["https_proxy"]
    assert made["TRITON_CACHE_DIR"] == "/s/cache"
    assert made["TRITON_INTERPRET"] == "1"
    assert "TRITON_INTERPRET" not in scrubbed("compile", Path("/s"), source)


def test_the_package_is_found_where_it_lies() -> None:
    assert (package_root() / "skel" / "validation").is_dir()
