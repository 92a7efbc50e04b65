import type { Exchange } from "../http/exchange.ts";
import type { McpAccess } from "./access.ts";
import type { McpBackend } from "./backend.ts";
import type { Message } from "./message.ts";
export function serveSessionPost(_e: Exchange, _b: McpBackend, _a: McpAccess, _m: Message): void {}
export function serveSessionStream(_e: Exchange, _b: McpBackend, _a: McpAccess): void {}
export function serveSessionDelete(_e: Exchange, _b: McpBackend, _a: McpAccess): void {}
