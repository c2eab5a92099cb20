import os

from skel.validation.isolation.channel import Receiver, sender


def test_only_lines_with_the_secret_count() -> None:
    read_end, write_end = os.pipe()
    sender(write_end, "s3cret")("begin", what="x")
    os.write(write_end, b'{"event": "done", "result": {}}\nwrong {"event": "done"}\nhalf a line')
    sender(write_end, "s3cret")("done", result={"n": 1})
    os.close(write_end)
    receiver = Receiver("s3cret")
    data = os.read(read_end, 1 << 16)
    os.close(read_end)
    events = receiver.feed(data[:30]) + receiver.feed(data[30:])
    assert events == [{"event": "begin", "what": "x"}, {"event": "done", "result": {"n": 1}}]
    assert receiver.forged_lines == 3


def test_a_line_that_is_no_event_ends_nothing() -> None:
    receiver = Receiver("secret")
    assert receiver.feed(b'secret {}\nsecret {"event": 1}\nsecret [\nsecret {"event": "done"}\n') == [{"event": "done"}]
    assert receiver.forged_lines == 3
