"""Servers of an SDK that is loaded once, which takes a second of a processor.

`loaded.py serve SOCKET MODULE` loads a module; `loaded.py SOCKET [PORT]` is then its server, over stdio or on a port, for
as long as both it and what it started live.
"""
import os
import socket
import sys


def serve(path, name):
    import importlib
    import signal
    import threading

    module = importlib.import_module(name)
    # Nobody asks how they ended.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    print("loaded", flush=True)
    while True:
        starter, _ = listener.accept()
        argument, files, _, _ = socket.recv_fds(starter, 16, 3)
        if os.fork() != 0:
            starter.close()
            for file in files:
                os.close(file)
            continue
        listener.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        threading.Thread(target=lambda: (starter.recv(1), os._exit(0)), daemon=True).start()
        try:
            module.run(*argument.decode().split())
        finally:
            os._exit(0)


def start(path, port=""):
    server = socket.socket(socket.AF_UNIX)
    server.connect(path)
    socket.send_fds(server, [f"{port}\n".encode()], [0, 1, 2])
    # Nothing comes but the end.
    server.recv(1)


if sys.argv[1] == "serve":
    serve(*sys.argv[2:])
else:
    start(*sys.argv[1:])
