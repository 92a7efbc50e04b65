import { useEffect, useRef, useState } from "preact/hooks";

/** Data of the gateway, as far as it was read. */
export interface Loaded<Data> {
  readonly data: Data | undefined;
  /** Why the last attempt failed. */
  readonly problem: string | undefined;
  readonly reload: () => void;
}

/** Whether a response only says why there is no data. */
export function isProblem(data: object): data is { readonly problem: string } {
  return "problem" in data;
}

/** Reads data, and again every so many milliseconds while the page is visible; `null` reads nothing. */
export function useData<Data extends object>(path: string | null, every = 0): Loaded<Data> {
  const [state, setState] = useState<{ path: string | null; data?: Data; problem?: string }>({
    path,
  });
  const [turn, setTurn] = useState(0);
  const isForced = useRef(false);
  useEffect(() => {
    if (path === null) return;
    const ended = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = async () => {
      if (document.hidden && !isForced.current) return next();
      isForced.current = false;
      try {
        const data = await getJson<Data>(path, ended.signal);
        setState({ path, data });
      } catch (error) {
        if (ended.signal.aborted) return;
        setState((before) => ({ ...before, path, problem: messageOf(error) }));
      }
      next();
    };
    const next = () => {
      if (every > 0 && !ended.signal.aborted) timer = setTimeout(read, every);
    };
    isForced.current = true;
    void read();
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [path, every, turn]);
  const isOwn = state.path === path;
  return {
    data: isOwn ? state.data : undefined,
    problem: isOwn ? state.problem : undefined,
    reload: () => setTurn((before) => before + 1),
  };
}

/** Reads JSON of the admin server. Throws an Error for people. */
export async function getJson<Data>(path: string, signal?: AbortSignal): Promise<Data> {
  const response = await fetch(`/ui/api/${path}`, signal === undefined ? {} : { signal });
  if (!response.ok) throw new Error(await textOf(response));
  return response.json();
}

/** Sends an action of the page, and returns its result. Throws an Error for people. */
export async function postJson<Data>(path: string, body: object): Promise<Data> {
  const response = await post(path, body);
  return response.json();
}

/** Sends an action whose result is not JSON. Throws an Error for people. */
export async function post(path: string, body: object, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(`/ui/api/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gwc-page": pageKey() },
    body: JSON.stringify(body),
    ...(signal !== undefined && { signal }),
  });
  if (!response.ok) throw new Error(await textOf(response));
  return response;
}

async function textOf(response: Response): Promise<string> {
  const text = (await response.text()).trim();
  // The login has ended: the page is served again after the next one.
  if (response.status === 401) location.reload();
  // A process that was started again has another key.
  if (response.status === 403) return `${text}: reload the page`;
  return text === "" ? `status ${response.status}` : text;
}

/** The secret of this page, without which nothing can be sent. */
function pageKey(): string {
  return document.querySelector('meta[name="gwc-page-key"]')?.getAttribute("content") ?? "";
}

/** Describes an error for people. */
export function messageOf(error: unknown): string {
  if (error instanceof TypeError) return "the gateway is not reachable";
  return error instanceof Error ? error.message : String(error);
}
