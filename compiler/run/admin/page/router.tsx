import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Path below `/ui/`, and the query. */
export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

const CHANGED = "gwc-place";

/** Returns the current place, and renders again when it changes. */
export function usePlace(): Place {
  const [place, setPlace] = useState(placeNow);
  useEffect(() => {
    const follow = () => setPlace(placeNow());
    addEventListener("popstate", follow);
    addEventListener(CHANGED, follow);
    return () => {
      removeEventListener("popstate", follow);
      removeEventListener(CHANGED, follow);
    };
  }, []);
  return place;
}

function placeNow(): Place {
  const path = location.pathname.replace(/^\/ui\/?/, "");
  return { path: decoded(path), query: new URLSearchParams(location.search) };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Goes to a place of the page: `requests?status=failed`. */
export function goTo(target: string, isReplaced = false): void {
  if (isReplaced) history.replaceState(null, "", `/ui/${target}`);
  else history.pushState(null, "", `/ui/${target}`);
  dispatchEvent(new Event(CHANGED));
}

interface LinkProps {
  readonly to: string;
  readonly class?: string | undefined;
  readonly isCurrent?: boolean;
  readonly label?: string | undefined;
  readonly onFollow?: () => void;
  readonly children: ComponentChildren;
}

/** A link to a place of the page. */
export function Link({ to, class: name, isCurrent, label, onFollow, children }: LinkProps) {
  return (
    <a
      href={`/ui/${to}`}
      class={name}
      aria-label={label}
      aria-current={isCurrent === true ? "page" : undefined}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
        event.preventDefault();
        goTo(to);
        onFollow?.();
      }}
    >
      {children}
    </a>
  );
}
