#!/usr/bin/env python3
"""Carries TCP connections of a builder to the gateway's socket.

It runs in the holder, which shares its network namespace with the builder and alone sees the socket. Every connection is
handed on byte by byte in both directions; the end of one direction is handed on too, and the other goes on. Beside that
it keeps one connection of its own open, by which the gateway knows that a builder may still need it.

usage: relay.py PORT SOCKET
"""

import asyncio
import sys

MOST_CONNECTIONS = 256
CHUNK = 65536
# A gateway that was killed is started again by bw-spawn within seconds; a request should live through that.
CONNECT_TRIES = 40
TRY_SECONDS = 0.25


async def connect(socket_path):
    for tries_left in range(CONNECT_TRIES, 0, -1):
        try:
            return await asyncio.open_unix_connection(socket_path)
        except OSError:
            if tries_left == 1:
                raise
            await asyncio.sleep(TRY_SECONDS)


async def pump(reader, writer):
    """One direction. A lost peer is raised, so that the other direction ends as well."""
    while chunk := await reader.read(CHUNK):
        writer.write(chunk)
        await writer.drain()
    writer.write_eof()


async def carry(inside_reader, inside_writer, socket_path):
    writers = [inside_writer]
    ways = []
    try:
        outside_reader, outside_writer = await connect(socket_path)
        writers.append(outside_writer)
        ways = [
            asyncio.create_task(pump(inside_reader, outside_writer)),
            asyncio.create_task(pump(outside_reader, inside_writer)),
        ]
        await asyncio.gather(*ways)
        for writer in writers:
            writer.close()
    except OSError:
        # A close would wait for a peer that may never read again.
        for way in ways:
            way.cancel()
        for writer in writers:
            writer.transport.abort()


async def stay_present(socket_path):
    while True:
        try:
            reader, writer = await asyncio.open_unix_connection(socket_path)
            writer.write(b"GET /.presence HTTP/1.1\r\nHost: gateway\r\n\r\n")
            while await reader.read(CHUNK):
                pass
            writer.close()
        except OSError:
            pass
        await asyncio.sleep(TRY_SECONDS)


async def main(port, socket_path):
    places = asyncio.Semaphore(MOST_CONNECTIONS)
    # asyncio itself holds tasks weakly: one that nobody refers to may be collected while it waits.
    carrying = set()

    async def serve(reader, writer):
        task = asyncio.current_task()
        carrying.add(task)
        try:
            async with places:
                await carry(reader, writer, socket_path)
        finally:
            carrying.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", port, backlog=128)
    print("ready", flush=True)
    async with server:
        await asyncio.gather(server.serve_forever(), stay_present(socket_path))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: relay.py PORT SOCKET")
    asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
