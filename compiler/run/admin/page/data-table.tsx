import type { ComponentChildren } from "preact";
import { Table } from "./parts.tsx";

/** A column of a table. */
export interface Column<Row> {
  readonly title: string;
  /** Classes of its cells and of its title. */
  readonly class?: string;
  /** Whether it names the row. */
  readonly isHead?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
}

/** A table with one line for each row. On phones, the cells of a row are below each other, with their titles. */
export function DataTable<Row>({
  label,
  columns,
  rows,
  keyOf,
  classOf = () => "",
}: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  classOf?: (row: Row) => string;
}) {
  return (
    <Table label={label} class="stacks">
      <thead>
        <tr>
          {columns.map(({ title, class: name = "" }) => (
            <th key={title} scope="col" class={name}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} class={classOf(row)}>
            {columns.map(({ title, class: name = "", isHead, cell }) =>
              isHead === true ? (
                <th key={title} scope="row" class={name} data-title={title}>
                  {cell(row)}
                </th>
              ) : (
                <td key={title} class={name} data-title={title}>
                  {cell(row)}
                </td>
              ),
            )}
          </tr>
        ))}
      </tbody>
    </Table>
  );
}
