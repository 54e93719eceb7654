/** Maps with at most `width` calls under way at a time; the results stand in the order of the items. */
export async function inOrder<T, R>(items: readonly T[], width: number, act: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  // One iterator for all lanes: each takes the next item when it is done with its own.
  const left = items.entries();
  const lane = async (): Promise<void> => {
    for (const [index, item] of left) results[index] = await act(item);
  };
  await Promise.all(Array.from({ length: width }, lane));
  return results;
}
