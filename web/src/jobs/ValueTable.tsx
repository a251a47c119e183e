/** A table of values, formatted by the server. */

import { Fragment } from "react";

import type { Table } from "../api/types";

export function ValueTable({ caption, table }: { caption: string; table: Table }) {
  const width = table.columns.length;
  return (
    <section aria-label={caption}>
      <h2>{caption}</h2>
      <div className="value-table">
        <table className="plain-table">
          <thead>
            <tr>
              {table.columns.map((column, index) =>
                column === "" ? (
                  <td key={index} />
                ) : (
                  <th key={`${index} ${column}`} scope="col">
                    {column}
                  </th>
                ),
              )}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row, index) => (
              <Fragment key={`${row.group} ${row.cells.join(" ")}`}>
                {row.group !== "" && row.group !== table.rows[index - 1]?.group && (
                  <tr className="value-group">
                    <th colSpan={width} scope="rowgroup">
                      {row.group}
                    </th>
                  </tr>
                )}
                <tr>
                  {row.cells.map((cell, column) => (
                    <td key={table.columns[column] ?? column}>{cell}</td>
                  ))}
                </tr>
              </Fragment>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
