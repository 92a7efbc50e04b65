/** The style sheet of the admin page; follows the reader's preference for light or dark. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --back: light-dark(#f6f7f9, #14171c);
  --card: light-dark(#ffffff, #1c2027);
  --line: light-dark(#e2e5ea, #2d333d);
  --text: light-dark(#1b2027, #e4e8ee);
  --soft: light-dark(#667080, #929dad);
  --link: light-dark(#2457c5, #82aaff);
  --good: light-dark(#14753f, #6fd49b);
  --good-back: light-dark(#e2f5ea, #17301f);
  --bad: light-dark(#b3261e, #ff9a92);
  --bad-back: light-dark(#fdeceb, #3a1d1c);
  --chip: light-dark(#eef1f6, #272d37);
  --comment: light-dark(#6b7686, #7f8a9b);
  --string: light-dark(#0b7a53, #8fd6a8);
  --keyword: light-dark(#8a3ab9, #d0a2ff);
  --type: light-dark(#9a5b00, #f0bf72);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
header { background: var(--card); border-bottom: 1px solid var(--line); }
.bar, main { max-width: 1180px; margin: 0 auto; padding: 0 24px; }
.bar { display: flex; align-items: center; gap: 20px; min-height: 60px; flex-wrap: wrap; }
.bar strong { font-size: 18px; letter-spacing: -.01em; }
.bar strong span { color: var(--soft); font-weight: 400; }
nav { display: flex; gap: 18px; margin-left: auto; }
nav a[aria-current] { color: var(--text); font-weight: 600; }
main { padding-top: 28px; padding-bottom: 56px; }
svg { max-width: 100%; height: auto; }
h2 { font-size: 17px; margin: 32px 0 12px; display: flex; gap: 10px; align-items: baseline; }
h2:first-child { margin-top: 0; }
h2 small, .soft { color: var(--soft); font-weight: 400; font-size: 13px; }
.pill { border-radius: 99px; padding: 3px 12px; font-size: 13px; font-weight: 600; }
.good { color: var(--good); background: var(--good-back); }
.bad { color: var(--bad); background: var(--bad-back); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; overflow-x: auto; }
.notice { border-color: var(--bad); margin-bottom: 28px; }
.notice h2 { margin: 0; padding: 12px 18px; color: var(--bad); background: var(--bad-back); }
.notice.mild { border-color: var(--line); }
.notice.mild h2 { color: var(--text); background: none; }
pre { margin: 0; padding: 14px 18px; font: 13px/1.6 ui-monospace, "DejaVu Sans Mono", monospace; }
table { width: 100%; border-collapse: collapse; }
th { text-align: left; color: var(--soft); font-weight: 500; font-size: 13px; }
th, td { padding: 10px 12px; border-bottom: 1px solid var(--line); vertical-align: top; }
tbody tr:last-child td { border-bottom: 0; }
td.figure, th.figure { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td code { font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; display: inline-block; max-width: 26ch; overflow-wrap: break-word; vertical-align: top; }
td div + div { margin-top: 4px; }
td.backend { min-width: 210px; }
.place { display: block; color: var(--soft); font-size: 12px; }
.chips { display: flex; flex-wrap: wrap; gap: 6px; }
.chip { background: var(--chip); border-radius: 6px; padding: 2px 8px; font-size: 13px; white-space: nowrap; }
.chip i { color: var(--soft); font-style: normal; font-size: 12px; }
.chip.none { background: none; padding-left: 0; color: var(--soft); }
.method { font-weight: 600; font-size: 12px; }
.split { display: grid; grid-template-columns: 210px minmax(0, 1fr); gap: 24px; align-items: start; }
.split ul { list-style: none; margin: 0; padding: 8px; }
.split li a { display: block; padding: 5px 10px; border-radius: 6px; overflow-wrap: anywhere; }
.split li a[aria-current] { background: var(--chip); color: var(--text); font-weight: 600; }
.code { counter-reset: line; padding-left: 0; }
.code > span { display: block; white-space: pre; padding-right: 18px; }
.code > span::before { counter-increment: line; content: counter(line); display: inline-block; width: 46px;
  margin-right: 18px; text-align: right; color: var(--soft); opacity: .6; user-select: none; }
.comment { color: var(--comment); }
.string, .number { color: var(--string); }
.keyword { color: var(--keyword); }
.type { color: var(--type); }
.call { color: var(--link); }
.try { font-size: 12px; }
form.card, #result section { padding: 4px 18px 14px; }
form h2:first-child, #result h2 { margin: 12px 0; flex-wrap: wrap; }
#about { min-height: 1.5em; }
label { display: block; margin: 12px 0; color: var(--soft); font-size: 13px; }
input, textarea { display: block; width: 100%; margin-top: 4px; font: 13px/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
input, textarea, select, button { padding: 7px 10px; border: 1px solid var(--line); border-radius: 6px;
  color: var(--text); background: var(--back); }
select { display: block; margin-top: 4px; }
button { font-weight: 600; cursor: pointer; }
button[type=submit] { color: #fff; background: #2457c5; border-color: #2457c5; }
#result { margin-top: 24px; }
#result pre { padding: 6px 0; white-space: pre-wrap; overflow-wrap: anywhere; }
td.time { white-space: nowrap; }
footer { color: var(--soft); font-size: 13px; margin-top: 32px; }
@media (max-width: 760px) { .split { grid-template-columns: 1fr; } nav { margin-left: 0; } }
`;

/** Keeps the page up to date: every two seconds its parts are replaced by the new ones. */
export const SCRIPT = `
setInterval(async () => {
  if (document.hidden || String(getSelection()) !== "") return;
  const status = document.querySelector(".pill");
  try {
    const response = await fetch(location.pathname);
    const next = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const part of ["header", "main"]) {
      const [now, then] = [document.querySelector(part), next.querySelector(part)];
      if (now && then && now.innerHTML !== then.innerHTML) now.replaceWith(then);
    }
  } catch {
    status.textContent = "not reachable";
    status.className = "pill bad";
  }
}, 2000);
`;
