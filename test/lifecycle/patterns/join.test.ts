import { describe, expect, it } from 'vitest';
import { joinPointing } from '../../../src/lifecycle/consolidation/engines/patterns/join.ts';
import { readEpisode } from '../../../src/lifecycle/consolidation/engines/patterns/read-episode.ts';
import { day } from './corpus/score.ts';

function joinAll(text: string, isNews = true): { content: string; quote: string }[] {
  const judged = readEpisode(text, day).map((found) => ({ ...found, isNews }));
  return joinPointing(judged, text).map(({ statement, quote }) => ({ content: statement.content, quote }));
}

describe('a sentence that points to the one before it', () => {
  it.each([
    ['The user rents a boat shed. It costs 90 euros a month.', 'User rents a boat shed; it costs 90 euros a month'],
    ['Passport renewed; valid until 4 March 2034.', 'Passport renewed; valid until 4 March 2034'],
    [
      'New job at the shipyard. Starts there 1 May, same trade.',
      'New job at the shipyard; User starts there 1 May 2026, same trade',
    ],
    [
      'The concert was planned for 4 May 2026. The user moved it to 5 May 2026.',
      'The concert was planned for 4 May 2026; User moved it to 5 May 2026',
    ],
    ['Ferry to Texel booked for 4 May 2026. Reference TX-88.', 'Ferry to Texel booked for 4 May 2026; reference TX-88'],
    [
      'The user fetched the old lamp; a glass shade is there in its place.',
      'User fetched the old lamp; a glass shade is there in its place',
    ],
  ])('is one note with it, and quotes both: %s', (text, content) => {
    expect(joinAll(text)).toEqual([{ content, quote: text }]);
  });

  it.each([
    'The user rents a boat shed. The garage costs 90 euros a month.',
    'The user lives in Graz. It costs 90 euros a month.',
    'The user rents a boat shed.\nIt costs 90 euros a month.',
  ])('stays alone where it stands alone, or follows a typed fact or another line: %s', (text) => {
    expect(joinAll(text)).toHaveLength(2);
  });

  it('is not joined when it is not worth keeping', () => {
    expect(joinAll('The user rents a boat shed. It was nice.', false)).toHaveLength(2);
  });
});
