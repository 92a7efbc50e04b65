import { useState } from "preact/hooks";
import type { TryData } from "../api/admin-api.ts";
import type { PageProps } from "./app.tsx";
import { messageOf, postJson } from "./data.ts";
import { visible } from "./format.ts";
import { Icon } from "./icons.tsx";
import { Card, Empty, Loading, Select } from "./parts.tsx";
import { ResultView, VerdictView } from "./result.tsx";
import { RouteChoice } from "./route-choice.tsx";
import { SenderFields, type TryResult, useSender, type Verdict } from "./sender.tsx";

/** Sends a request to a route, as any client on this machine could, or asks what the rules decide about it. */
export function TryPage(props: PageProps) {
  return (
    <RouteChoice
      {...props}
      title="Requests to routes"
      about="Sent from this machine to the gateway's own port, as any client of it could. The audit log has each."
      page="try"
      showsOnly
      empty={
        <Empty icon="try" title="No route can be tried from here">
          Their paths are patterns, or their ports require client certificates.
        </Empty>
      }
    >
      {(route) => <Form key={route.id} route={route} />}
    </RouteChoice>
  );
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const;

function Form({ route }: { route: TryData }) {
  const sender = useSender(route);
  const [method, setMethod] = useState(METHODS.find((each) => each === route.method) ?? "GET");
  const [body, setBody] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [result, setResult] = useState<TryResult>();
  const [verdict, setVerdict] = useState<Verdict>();
  const ask = async (path: "try" | "can") => {
    setBusy(true);
    setResult(undefined);
    setVerdict(undefined);
    try {
      const call = sender.request(path === "try", method, body);
      if (path === "try") setResult(await postJson<TryResult>(path, call));
      else setVerdict(await postJson<Verdict>(path, call));
    } catch (error) {
      setResult({ problem: messageOf(error) });
    }
    setBusy(false);
  };
  return (
    <div class="split-even">
      <Card title={visible(route.name)} note={visible(route.origin)}>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void ask("try");
          }}
        >
          <div class="inline">
            <Select
              label="Method"
              value={method}
              options={METHODS.map((each) => [each, each] as const)}
              onChange={setMethod}
            />
            <label class="field grow">
              <span class="label">Path and query</span>
              <input
                class="mono"
                spellcheck={false}
                value={sender.target}
                onInput={({ currentTarget }) => sender.setTarget(currentTarget.value)}
              />
            </label>
          </div>
          <SenderFields route={route} sender={sender} hasPath />
          {method !== "GET" && method !== "HEAD" && (
            <label class="field">
              <span class="label">Body</span>
              <textarea
                class="mono"
                rows={5}
                spellcheck={false}
                value={body}
                onInput={({ currentTarget }) => setBody(currentTarget.value)}
              />
            </label>
          )}
          <p class="buttons">
            <button type="submit" class="button primary" disabled={isBusy}>
              <Icon name="send" /> Send
            </button>
            <button type="button" class="button" disabled={isBusy} onClick={() => void ask("can")}>
              Decide only
            </button>
          </p>
        </form>
      </Card>
      <div aria-live="polite">
        {isBusy && <Loading what="Waiting" />}
        {result !== undefined && <ResultView result={result} />}
        {verdict !== undefined && <VerdictView verdict={verdict} />}
        {!isBusy && result === undefined && verdict === undefined && (
          <Card>
            <Empty icon="send" title="No request yet">
              Send shows the response. Decide only shows what each policy decides.
            </Empty>
          </Card>
        )}
      </div>
    </div>
  );
}
