"""An endless pcap file: net_pcap reads a named pipe into which a thread of ours writes, so that frames can be made
while zonelb runs and every one of them is known."""

import fcntl
import os
import queue
import struct
import threading

from packets.pcap import FILE_HEADER, captured

_PIPE_BYTES = 1 << 20
_BETWEEN_BEATS = 0.01  # seconds


class Stream:
    """The frames that go to one receive queue. net_pcap waits inside the driver while the pipe is empty, so whenever
    there is nothing else to do `beat` is sent: enough frames to fill a burst."""

    def __init__(self, path, beat):
        self.path = path
        self.sent = 0   # frames, without beats
        self.beats = 0  # frames
        self._beat, self._beat_frames = b"".join(map(captured, beat)), len(beat)
        self._jobs = queue.Queue()
        self._closing = threading.Event()
        os.mkfifo(path)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def send(self, blocks):
        """`blocks`: (bytes as captured() gives them, number of frames) each. Returns an Event: all is in the pipe."""
        done = threading.Event()
        self._jobs.put((blocks, done))
        return done

    def close(self):
        """The end of the file, after what has been asked for."""
        self._closing.set()
        self._thread.join(60)
        assert not self._thread.is_alive(), f"{self.path} is not read"

    def _run(self):
        with open(self.path, "wb", buffering=0) as pipe:  # waits for the reader
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
            self._write(pipe, FILE_HEADER)
            try:
                while self._step(pipe):
                    pass
            except BrokenPipeError:
                pass  # zonelb has ended; the test sees that for itself

    def _step(self, pipe):
        try:
            blocks, done = self._jobs.get(timeout=_BETWEEN_BEATS)
        except queue.Empty:
            if self._closing.is_set():
                return False
            self._write(pipe, self._beat)
            self.beats += self._beat_frames
            return True
        for data, frames in blocks:
            self._write(pipe, data)
            self.sent += frames
        done.set()
        return True

    @staticmethod
    def _write(pipe, data):
        left = memoryview(data)
        while left:
            left = left[pipe.write(left):]


class Flood:
    """Frames of which each is a new flow, and between them, one in `group`, frames of connections that are known:
    `blocks(first_port, stop)` are made by changing the source ports of one block again and again."""

    def __init__(self, frames, kept, group, port_at):
        """`frames`: of different clients, all of one length; `kept`: lists of such frames, a block takes the next."""
        self._record = len(captured(frames[0]))
        self._port_at = self._record - len(frames[0]) + port_at
        self._group = group
        self._blocks = [self._block(frames, each) for each in kept]
        self._ports = [self._ports_of(each) for each in kept]
        self.rounds = 0  # times that each kept frame was sent

    def _block(self, frames, kept):
        block = bytearray()
        fresh = iter(frames)
        for frame in kept:
            assert len(frame) == len(frames[0])
            block += captured(frame) + b"".join(captured(next(fresh)) for _ in range(self._group - 1))
        return block

    def _ports_of(self, kept):
        at = self._port_at - (self._record - len(kept[0]))
        return [bytes(frame[at + byte] for frame in kept) for byte in (0, 1)]

    def _with_port(self, number, port):
        block = self._blocks[number]
        count = len(block) // self._record
        for byte, value in enumerate(struct.pack("!H", port)):
            values = bytearray([value]) * count
            values[::self._group] = self._ports[number][byte]
            block[self._port_at + byte::self._record] = values
        return block, count

    def blocks(self, first_port, stop):
        """Until `stop` is set, and then to the end of a round."""
        port = first_port
        while not stop.is_set():
            for number in range(len(self._blocks)):
                yield self._with_port(number, port)
                port += 1
                assert port < 0x10000, "no more new flows"
            self.rounds += 1
