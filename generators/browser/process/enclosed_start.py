"""Encloses a browser: a program that limits its network and user, then becomes it.

It runs in bare Python, before the browser and in its place: `enclosed_start.py CONTROL USER SANDBOX [COMMAND
...]`. It enters a network namespace with only a loopback interface, becomes USER if it is root, and tests
whether Chromium's sandbox can start. It reports the results and the reasons of failures over the socket
CONTROL, waits for the answer, and becomes COMMAND. A child process remains, which makes sockets of the
namespace for the program at the other end of CONTROL until that closes it. Without COMMAND the program ends
after its report.

USER is a number; SANDBOX is `on`, or `off` for a browser that keeps the user and has no sandbox.
"""

import array  # noqa: F401 - `send_fds` loads it, when this user may not be able to
import contextlib
import ctypes
import fcntl
import json
import os
import socket
import struct
import sys

_NEW_USER, _NEW_NETWORK, _NEW_PROCESSES = 0x10000000, 0x40000000, 0x20000000
_SET_FLAGS, _UP_RUNNING = 0x8914, 0x41
_SET_DUMPABLE = 4
_PROFILE = "--user-data-dir="
_STANDARD_AND_PIPE = 5
_GO = b"g"


def main(control: str, user: int, sandbox: str, command: list[str]) -> None:
    """Enclose this process, report, and become `command`."""
    line = socket.socket(socket.AF_UNIX)
    line.connect(control)
    root = os.geteuid() == 0
    no_namespace = _leave_network(root=root)
    no_user = no_sandbox = "browser.sandbox is off"
    if sandbox == "on":
        no_user = _become(user, command) if root else "only root can give it another"
        no_sandbox = _why_no_sandbox()
    report = {"namespace": no_namespace, "user": no_user, "sandbox": no_sandbox}
    line.sendall(json.dumps(report).encode() + b"\n")
    if not command or line.recv(1) != _GO:
        return
    if not no_namespace:
        _leave_behind(line)
    line.close()
    os.execv(command[0], [*command, *(["--no-sandbox"] if no_sandbox else [])])  # noqa: S606 - that is its work


def _leave_network(*, root: bool) -> str:
    """Enter a network namespace of our own; return why that is impossible, or an empty text."""
    ids = os.getuid(), os.getgid()
    try:
        _unshare(_NEW_NETWORK if root else _NEW_USER | _NEW_NETWORK)
        if not root:
            _keep_ids(*ids)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP_RUNNING))
    except (OSError, AttributeError) as error:
        return _reason(error)
    return ""


def _unshare(flags: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(flags):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _keep_ids(user: int, group: int) -> None:
    """Keep the same user in a new user namespace."""
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        # A text file would need a codec, which this user may not be able to load.
        number = os.open(f"/proc/self/{name}", os.O_WRONLY)
        os.write(number, text.encode())
        os.close(number)


def _become(user: int, command: list[str]) -> str:
    """Hand the profile to another user and become it; return why that is impossible, or an empty text."""
    profile = next(
        (one.removeprefix(_PROFILE) for one in command if one.startswith(_PROFILE)), None
    )
    try:
        for folder, folders, names in os.walk(profile) if profile else ():
            for path in (folder, *(os.path.join(folder, name) for name in (*folders, *names))):  # noqa: PTH118
                os.chown(path, user, user, follow_symlinks=False)
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    except OSError as error:
        return _reason(error)
    if os.getresuid() != (user, user, user):
        return f"{user} is no user's number"
    if profile and not os.access(profile, os.W_OK | os.X_OK):
        return f"it may not enter {profile}"
    if command and not os.access(command[0], os.X_OK):
        return f"it may not execute {command[0]}"
    for name in [name for name in os.environ if name.startswith("XDG_")]:
        del os.environ[name]
    if profile:
        os.environ |= {"HOME": profile, "TMPDIR": profile}
    return ""


def _why_no_sandbox() -> str:
    """Try in a child the first calls of Chromium's sandbox; return why they fail, or an empty text."""
    if os.geteuid() == 0:
        return "Chromium has none for root"
    ids = os.getuid(), os.getgid()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        reason = "none"
        try:
            # A process that has changed its user may not write about itself in /proc, until it is
            # made dumpable, as the program that it becomes is.
            ctypes.CDLL(None).prctl(_SET_DUMPABLE, 1)
            _unshare(_NEW_USER)
            _keep_ids(*ids)
            _unshare(_NEW_PROCESSES | _NEW_NETWORK)
        except (OSError, AttributeError) as error:
            reason = _reason(error)
        os.write(write, reason.encode()[:500])
        os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    reason = os.read(read, 500).decode()
    os.close(read)
    if reason == "none":
        return ""
    return f"this user may make no user namespaces: {reason or 'the attempt broke'}"


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)


def _leave_behind(line: socket.socket) -> None:
    """Leave a grandchild that sends a new socket of this namespace for each received byte."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    if os.fork():
        os._exit(0)
    for number in set(range(_STANDARD_AND_PIPE)) - {line.fileno()}:
        with contextlib.suppress(OSError):
            os.close(number)
    while line.recv(1):
        with socket.socket(socket.AF_INET) as made:
            socket.send_fds(line, [_GO], [made.fileno()])
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:])
