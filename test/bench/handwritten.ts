import { serveProxy } from "./handwritten-proxy.ts";

serveProxy(undefined);
