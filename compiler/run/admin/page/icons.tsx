/** Shapes of 16 by 16 units, drawn with strokes. */
const SHAPES = {
  overview: "M2 13.5h12M3.5 11V8M6.5 11V4.5M9.5 11V6.5M12.5 11V2.5",
  requests: "M2 4.5h12M2 8h8M2 11.5h5M11.5 9.5l2.5 2-2.5 2",
  routes: "M3 3.5h3a3 3 0 0 1 3 3v3a3 3 0 0 0 3 3h1M3 12.5h3a3 3 0 0 0 2-.8M11 10.5l2 2-2 2",
  graph: "M3 4.5h3.5v3H3zM9.5 2.5H13v3H9.5zM9.5 10.5H13v3H9.5zM6.5 6H8v-2h1.5M8 6v6h1.5",
  access: "M8 2l5 2v4c0 3-2.2 5.2-5 6-2.8-.8-5-3-5-6V4zM5.8 8l1.6 1.6L10.4 6.5",
  changes: "M5 3v10M5 3L2.8 5.2M5 3l2.2 2.2M11 13V3M11 13l-2.2-2.2M11 13l2.2-2.2",
  try: "M4 3l8.5 5L4 13z",
  tools: "M9.8 2.7a3.5 3.5 0 0 0-4.3 4.6L2.5 10.3v3h3l3-3a3.5 3.5 0 0 0 4.6-4.3l-2 2-2-.5-.6-2z",
  chat: "M2.5 3.5h11v7H8l-3 2.5v-2.5H2.5z",
  usage: "M8 2.5a5.5 5.5 0 1 0 5.5 5.5H8zM10.5 2.8a5.5 5.5 0 0 1 2.7 2.7h-2.7z",
  keys: "M10.5 2.5a3 3 0 1 1-2.4 4.8L3.5 12v1.5h2V12H7v-1.5h1l.9-.9M11.2 5h.1",
  checks: "M8 1.8l5.2 2v4c0 3-2.2 5.4-5.2 6.4-3-1-5.2-3.4-5.2-6.4v-4zM8 5v3.2M8 10.6v.1",
  code: "M5.5 4.5L2 8l3.5 3.5M10.5 4.5L14 8l-3.5 3.5",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  close: "M4 4l8 8M12 4l-8 8",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M5 3.5l7 4.5-7 4.5z",
  stop: "M4.5 4.5h7v7h-7z",
  search: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.4 10.4l3.1 3.1",
  alert: "M8 2.2L14.2 13H1.8zM8 6.5v3M8 11.2v.1",
  copy: "M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1",
  send: "M2.5 8L13.5 3 9.5 13.5 7.5 9z",
  plus: "M8 3v10M3 8h10",
  refresh: "M13 8a5 5 0 1 1-1.5-3.6M13 2.5v2.7h-2.7",
  light:
    "M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6zM8 1.5v1.4M8 13.1v1.4M1.5 8h1.4M13.1 8h1.4M3.4 3.4l1 1M11.6 11.6l1 1M3.4 12.6l1-1M11.6 4.4l1-1",
  dark: "M13.2 9.6A5.6 5.6 0 0 1 6.4 2.8a5.6 5.6 0 1 0 6.8 6.8z",
  system: "M2.5 3.5h11v7h-11zM6 13h4M8 10.5V13",
  external: "M6.5 3.5h-3v9h9v-3M9 3h4v4M13 3L7.5 8.5",
  dot: "M8 5.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z",
  check: "M3 8.5l3.2 3.2L13 5",
} as const;

/** Name of an icon. */
export type IconName = keyof typeof SHAPES;

/** An icon next to words, hidden from screen readers. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={SHAPES[name]} />
    </svg>
  );
}
