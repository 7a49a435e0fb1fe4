"""Reading and writing pcap files of Ethernet frames; scapy's own takes a second per thousand."""

import struct

_FILE = struct.Struct("<IHHiIII")
_FRAME = struct.Struct("<IIII")
_MAGIC, _ETHERNET, _LONGEST = 0xA1B2C3D4, 1, 0x40000
FILE_HEADER = _FILE.pack(_MAGIC, 2, 4, 0, 0, _LONGEST, _ETHERNET)


def captured(frame, number=0):
    """A frame as it stands in a file; `number` gives it a time."""
    return _FRAME.pack(number // 1000000, number % 1000000, len(frame), len(frame)) + frame


def write_pcap(path, frames):
    with open(path, "wb") as file:
        file.write(FILE_HEADER)
        for number, frame in enumerate(frames):
            file.write(captured(frame, number))


def read_pcap(path):
    with open(path, "rb") as file:
        data = file.read()
    # Nanosecond files differ in the magic number alone.
    assert _FILE.unpack_from(data)[0] in (_MAGIC, 0xA1B23C4D), f"{path}: not a pcap file"
    frames, at = [], _FILE.size
    while at < len(data):
        _, _, captured, length = _FRAME.unpack_from(data, at)
        at += _FRAME.size
        assert captured == length, f"{path}: a frame was cut"
        frames.append(data[at:at + captured])
        at += captured
    return frames
