import path from "node:path";
import { Node, Project, type Type } from "ts-morph";
import { root } from "../harness/root.ts";

/** A value of a type with one string in it, and the path of the string: `messages[].content[text].text`. */
export interface TextField {
  readonly path: string;
  readonly value: unknown;
}

/** A type of an SDK: `openai/resources/chat/completions` and a name. */
export interface SdkType {
  readonly module: string;
  readonly name: string;
}

/** Maximum depth of values; the deepest text of a message is seven levels down. */
const maxDepth = 9;

/** Returns every place in the types where text may occur, each in a value that is as small as the type allows. */
export function textFieldsOf(
  types: readonly SdkType[],
  text: string,
): ReadonlyMap<string, readonly TextField[]> {
  const project = new Project({
    tsConfigFilePath: path.join(root, "tsconfig.json"),
    skipAddingFilesFromTsConfig: true,
  });
  const lines = types.map(
    ({ module, name }, index) => `export type T${index} = import("${module}").${name};`,
  );
  const file = project.createSourceFile(path.join(root, "text-fields-of.ts"), lines.join("\n"));
  return new Map(
    types.map(({ name }, index) => {
      const type = file.getTypeAliasOrThrow(`T${index}`).getType();
      return [name, fieldsOf(type, { text, above: [] })] as const;
    }),
  );
}

interface Walk {
  readonly text: string;
  /** The types around: one that holds itself is not followed. */
  readonly above: readonly Type[];
}

function fieldsOf(type: Type, walk: Walk): readonly TextField[] {
  if (walk.above.length > maxDepth || walk.above.includes(type)) return [];
  if (type.isString() || type.isTemplateLiteral()) return [{ path: "", value: walk.text }];
  if (type.isUnknown() || type.isAny()) return [{ path: ".*", value: { a: walk.text } }];
  if (type.isUnion()) return type.getUnionTypes().flatMap((each) => fieldsOf(each, walk));
  const inside = { ...walk, above: [...walk.above, type] };
  const element = type.getArrayElementType();
  if (element !== undefined) {
    return fieldsOf(element, inside).map((each) => ({
      path: `[]${each.path}`,
      value: [each.value],
    }));
  }
  if (!type.isObject() && !type.isIntersection()) return [];
  if (type.getCallSignatures().length > 0) return [];
  const words = literalsOf(type);
  const title = typeof words.type === "string" ? `(${words.type})` : "";
  const entry = type.getStringIndexType();
  return [
    ...(entry === undefined
      ? []
      : fieldsOf(entry, inside).map((each) => ({
          path: `.*${each.path}`,
          value: { a: each.value },
        }))),
    ...type.getProperties().flatMap((property) => {
      const name = property.getName();
      const [declaration] = property.getDeclarations();
      if (declaration === undefined || Node.isMethodSignature(declaration)) return [];
      return fieldsOf(property.getTypeAtLocation(declaration), inside).map((each) => ({
        path: `${title}.${name}${each.path}`,
        value: { ...words, [name]: each.value },
      }));
    }),
  ];
}

/** The members of an object that are one word: its type, its role. */
function literalsOf(type: Type): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    type.getProperties().flatMap((property) => {
      const [declaration] = property.getDeclarations();
      const value = declaration && property.getTypeAtLocation(declaration);
      const [first] = value?.isUnion() ? value.getUnionTypes() : value === undefined ? [] : [value];
      return first?.isStringLiteral() ? [[property.getName(), first.getLiteralValue()]] : [];
    }),
  );
}
