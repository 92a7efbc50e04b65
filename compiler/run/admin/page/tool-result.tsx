import { visible } from "./format.ts";
import { Pill, Text } from "./parts.tsx";
import { Json } from "./result.tsx";
import { isMembers, type JsonMembers, type JsonValue, parsed } from "./schema-form.tsx";

/** The result of a call: its contents by their kinds, then structured content, then everything as JSON. */
export function ToolResult({ body }: { body: string }) {
  const message = parsed(body);
  const result = isMembers(message) ? message.result : undefined;
  if (!isMembers(message) || !isMembers(result)) return <Json text={body} />;
  const contents = contentsOf(result);
  const { structuredContent } = result;
  return (
    <>
      {contents.slice(0, 100).map((content, index) => (
        <Content key={index} content={content} />
      ))}
      {structuredContent !== undefined && (
        <>
          <h3 class="sub-title">Structured content</h3>
          <Tree value={structuredContent} />
        </>
      )}
      <details class="more">
        <summary>The message</summary>
        <Json text={body} />
      </details>
    </>
  );
}

/** Returns contents of tools, messages of prompts, and texts of resources. */
function contentsOf({ content, messages, contents }: JsonMembers): readonly JsonValue[] {
  if (Array.isArray(messages))
    return messages.flatMap((each) =>
      isMembers(each) ? [each.role ?? null, each.content ?? null] : [],
    );
  if (Array.isArray(contents))
    return contents.map((each) => (isMembers(each) ? { type: "resource", resource: each } : each));
  return Array.isArray(content) ? content : [];
}

const IMAGE = /^image\/(png|jpeg|gif|webp)$/;

function Content({ content }: { content: JsonValue }) {
  if (typeof content === "string") return <h3 class="sub-title">{visible(content)}</h3>;
  if (!isMembers(content)) return <Json text={JSON.stringify(content)} />;
  const { type, text, data, mimeType } = content;
  if (type === "text" && typeof text === "string") return <TextContent text={text} />;
  if (type === "image" && typeof data === "string" && IMAGE.test(String(mimeType)))
    return (
      <img
        class="tool-image"
        src={`data:${mimeType};base64,${data.replace(/[^A-Za-z0-9+/=]/g, "")}`}
        alt="Content of the result"
      />
    );
  const { resource, uri, name } = content;
  const inner = isMembers(resource) ? resource : content;
  return (
    <div class="content">
      <Pill tone="plain">
        <Text>{String(type ?? "content")}</Text>
      </Pill>{" "}
      <Text>{String(name ?? inner.uri ?? uri ?? mimeType ?? "")}</Text>
      {typeof inner.text === "string" && <TextContent text={inner.text} />}
    </div>
  );
}

function TextContent({ text }: { text: string }) {
  const value = /^\s*[[{]/.test(text) ? parsed(text) : undefined;
  if (value !== undefined && typeof value === "object") return <Tree value={value} />;
  return <pre class="block wrap">{visible(text)}</pre>;
}

const MAX_MEMBERS = 100;

/** A JSON value whose lists and objects can be closed. */
export function Tree({ value, depth = 0 }: { value: JsonValue; depth?: number }) {
  if (typeof value !== "object" || value === null)
    return <code class="leaf">{visible(JSON.stringify(value))}</code>;
  const entries = Object.entries(value);
  if (entries.length === 0) return <code class="leaf">{Array.isArray(value) ? "[]" : "{}"}</code>;
  const list = (
    <ul class="tree">
      {entries.slice(0, MAX_MEMBERS).map(([name, member]) => (
        <li key={name}>
          <span class="member">{visible(name)}</span> <Tree value={member} depth={depth + 1} />
        </li>
      ))}
      {entries.length > MAX_MEMBERS && <li class="soft">{entries.length - MAX_MEMBERS} more</li>}
    </ul>
  );
  if (depth === 0) return list;
  const summary = Array.isArray(value)
    ? `list of ${entries.length}`
    : `object of ${entries.length}`;
  return (
    <details open={depth < 3 && entries.length <= 20}>
      <summary>{summary}</summary>
      {list}
    </details>
  );
}
