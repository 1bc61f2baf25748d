import { Prisma } from '../../generated/prisma/client.ts';

/** A row of a page by number, or of nothing but the total when the page is empty. */
export interface PageRow {
  is_row: true | null;
  total: number;
}

export interface NumberedPage {
  offset: number;
  limit: number;
}

/** A page of rows, and how many there are on all pages: also behind the last one, where a window would count nothing. */
export function pageWithTotal(rows: Prisma.Sql, order: string, { offset, limit }: NumberedPage): Prisma.Sql {
  const by = Prisma.raw(order);
  return Prisma.sql`
    WITH all_rows AS (${rows})
    SELECT page.*, counted.total FROM (SELECT count(*)::int AS total FROM all_rows) counted
    LEFT JOIN (SELECT *, true AS is_row FROM all_rows ORDER BY ${by} LIMIT ${limit} OFFSET ${offset}) page ON true
    ORDER BY ${by}`;
}

export function splitPage<Row extends PageRow>(rows: readonly Row[]): { rows: Row[]; total: number } {
  return { rows: rows.filter(({ is_row: isRow }) => isRow !== null), total: rows[0]?.total ?? 0 };
}
