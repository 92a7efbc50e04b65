import type { PageProps } from "./app.tsx";
import { useData } from "./data.ts";
import { visible } from "./format.ts";
import { Card, Loading, PageHead, Problem } from "./parts.tsx";
import { Link } from "./router.tsx";

/** The generated modules. */
export function CodePage({ rest, gateway }: PageProps) {
  const version = `version=${gateway.generation}`;
  const list = useData<{ readonly paths: readonly string[] }>(`code?${version}`);
  const paths = list.data?.paths ?? [];
  const shown = rest === "" ? "main.ts" : rest;
  const path = shown.split("/").map(encodeURIComponent).join("/");
  const module = useData<{ readonly text: string }>(`code/${path}?${version}`);
  return (
    <>
      <PageHead
        title="Generated code"
        about="What the compiler made of the configuration, and what serves requests now."
      />
      <div class="split">
        <Card class="flush" title="Modules">
          <ul class="files">
            {paths.map((each) => (
              <li key={each}>
                <Link to={`code/${each}`} isCurrent={each === shown}>
                  {visible(each)}
                </Link>
              </li>
            ))}
          </ul>
        </Card>
        <Card class="flush" title={visible(shown)}>
          {module.problem !== undefined && <Problem>{module.problem}</Problem>}
          {module.data === undefined ? (
            module.problem === undefined && <Loading />
          ) : (
            <Source text={module.data.text} />
          )}
        </Card>
      </div>
    </>
  );
}

const TOKEN =
  /(?<comment>\/\/.*)|(?<string>"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)|(?<number>\b\d[\d_.]*\b)|(?<keyword>\b(?:async|await|const|else|export|false|from|function|if|import|meta|new|null|return|true|type|typeof|undefined|void)\b)|(?<type>\b[A-Z][A-Za-z]*\b)|(?<call>\b[a-z]\w*(?=\())/g;

function Source({ text }: { text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: readers without a mouse scroll it with the arrow keys.
    <pre class="code" tabIndex={0}>
      {text
        .trimEnd()
        .split("\n")
        .map((line, index) => (
          <span key={index} class="code-line">
            {tokens(line)}
          </span>
        ))}
    </pre>
  );
}

function tokens(line: string) {
  const parts = [];
  let end = 0;
  for (const match of line.matchAll(TOKEN)) {
    const [word] = match;
    const kind = Object.entries(match.groups ?? {}).find(([, found]) => found !== undefined)?.[0];
    parts.push(
      visible(line.slice(end, match.index)),
      <span key={match.index} class={`t-${kind}`}>
        {visible(word)}
      </span>,
    );
    end = match.index + word.length;
  }
  parts.push(visible(line.slice(end)));
  return parts;
}
