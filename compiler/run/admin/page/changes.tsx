import { useState } from "preact/hooks";
import type { DiffData, GenerationData } from "../api/admin-api.ts";
import type { PageProps } from "./app.tsx";
import { useData } from "./data.ts";
import { age, amount, clock } from "./format.ts";
import { Card, Code, Empty, Loading, PageHead, Pill, Problem, Text } from "./parts.tsx";

const TONES = { opens: "bad", closes: "good", changes: "warn" } as const;

/** Versions that this process served, and what each changed for requests. */
export function ChangesPage({ gateway }: PageProps) {
  const { data, problem } = useData<{ readonly generations: readonly GenerationData[] }>(
    `changes?version=${gateway.generation}`,
  );
  const [chosen, setChosen] = useState<number>();
  const all = data?.generations.toReversed() ?? [];
  const oldest = all.at(-1)?.number ?? 1;
  const shown = chosen ?? all[0]?.number;
  return (
    <>
      <PageHead
        title="Changes"
        about="The last versions that this process served. Each is compared with the one before by its effect on requests, as gwc diff does."
      />
      {problem !== undefined && <Problem>{problem}</Problem>}
      {data === undefined ? (
        problem === undefined && <Loading />
      ) : (
        <div class="split">
          <Card class="flush" title="Versions">
            <ul class="choices">
              {all.map(({ number, at, changes }) => (
                <li key={number}>
                  <button
                    type="button"
                    aria-pressed={number === shown}
                    onClick={() => setChosen(number)}
                  >
                    <span class="choice-title">
                      Version {number}
                      {number === gateway.generation && <Pill tone="good">served</Pill>}
                    </span>
                    <span class="soft sub">
                      {clock(at)}, {age(at, gateway.now)} ago
                    </span>
                    <span class="sub">
                      <Text>{number === 1 ? "at the start" : shorten(changes)}</Text>
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          </Card>
          {shown === undefined || shown === oldest ? (
            <Card title={`Version ${shown ?? 1}`}>
              <Empty
                icon="changes"
                title={shown === 1 ? "The first version" : "The oldest one that is remembered"}
              >
                Edit <Code>{gateway.file}</Code> and save it: the next version appears here with its
                effect.
              </Empty>
            </Card>
          ) : (
            <Difference key={shown} number={shown} />
          )}
        </div>
      )}
    </>
  );
}

function shorten(changes: readonly string[]): string {
  const shown = changes.slice(0, 3).join(", ");
  return changes.length > 3 ? `${shown} and ${changes.length - 3} more` : shown;
}

function Difference({ number }: { number: number }) {
  const { data, problem } = useData<DiffData>(`changes/${number}`);
  return (
    <Card
      class="flush"
      title={`Version ${number} against ${number - 1}`}
      note={data === undefined ? undefined : amount(data.differences.length, "difference")}
    >
      {problem !== undefined && <Problem>{problem}</Problem>}
      {data === undefined ? (
        problem === undefined && <Loading what="Comparing, in a thread of its own" />
      ) : (
        <>
          <p class="before verdict">
            <Text>{data.verdict}</Text>
          </p>
          <ul class="lines differences">
            {data.differences.map(({ direction, subject, change, details }) => (
              <li key={`${subject} ${change}`}>
                <Pill tone={TONES[direction]}>{direction}</Pill>
                <div class="grow">
                  <strong>
                    <Text>{subject}</Text>
                  </strong>
                  <span class="sub">
                    <Text>{change}</Text>
                  </span>
                  <dl class="facts small">
                    {details.map(([name, text]) => (
                      <div key={`${name} ${text}`}>
                        <dt>{name}</dt>
                        <dd>
                          <Code>{text}</Code>
                        </dd>
                      </div>
                    ))}
                  </dl>
                </div>
              </li>
            ))}
            {data.undecided.map((text) => (
              <li key={text}>
                <Pill tone="warn">undecided</Pill>
                <div class="grow">
                  <Text>{text}</Text>
                </div>
              </li>
            ))}
          </ul>
        </>
      )}
    </Card>
  );
}
