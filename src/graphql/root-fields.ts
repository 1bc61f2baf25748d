import {
  GraphQLError,
  Kind,
  type DocumentNode,
  type FragmentDefinitionNode,
  type SelectionSetNode,
  type ValidationRule,
} from 'graphql';

/**
 * Every root field is a question of its own, and an alias asks the same one again: what each costs the database is not
 * told by how long the document is.
 */
export function limitRootFields(most: number): ValidationRule {
  return (context) => {
    const count = rootFieldCounter(context.getDocument());
    return {
      OperationDefinition: (operation) => {
        const given = count(operation.selectionSet);
        if (given <= most) return;
        const message = `query: at most ${most} fields of ${operation.operation}, aliases included; given ${given}`;
        // Without the operation itself: refusals are kept for a while, and such a one is large.
        context.reportError(new GraphQLError(message));
      },
    };
  };
}

function rootFieldCounter(document: DocumentNode): (selectionSet: SelectionSetNode) => number {
  const isFragment = (one: DocumentNode['definitions'][number]): one is FragmentDefinitionNode =>
    one.kind === Kind.FRAGMENT_DEFINITION;
  const fragments = new Map(document.definitions.filter(isFragment).map((one) => [one.name.value, one]));
  // Each is counted once: those that spread others twice would take for ever. One within itself is refused by another rule.
  const counts = new Map<string, number>();
  const countSpread = (name: string): number => {
    const known = counts.get(name);
    if (known !== undefined) return known;
    counts.set(name, 0);
    const fragment = fragments.get(name);
    const counted = fragment === undefined ? 0 : count(fragment.selectionSet);
    counts.set(name, counted);
    return counted;
  };
  const count = ({ selections }: SelectionSetNode): number =>
    selections.reduce((total, selection) => {
      if (selection.kind === Kind.FIELD) return total + 1;
      if (selection.kind === Kind.INLINE_FRAGMENT) return total + count(selection.selectionSet);
      return total + countSpread(selection.name.value);
    }, 0);
  return count;
}
