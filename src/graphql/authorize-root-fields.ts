import { OperationTypeNode, type GraphQLFieldResolver, type GraphQLSchema } from 'graphql';
import { requireAction, authorize, type Action } from '../memory/permissions.ts';
import type { GraphQLContext } from './context.ts';

type Resolver = GraphQLFieldResolver<unknown, GraphQLContext>;

/**
 * Makes every root field check the permission table before it resolves. Throws for a field that has no row there, so that
 * a server with a field that nobody decided on does not start.
 */
export function authorizeRootFields(schema: GraphQLSchema): GraphQLSchema {
  for (const kind of Object.values(OperationTypeNode)) {
    const root = schema.getRootType(kind);
    for (const field of Object.values(root?.getFields() ?? {})) {
      const action = requireAction(kind, field.name);
      if (field.subscribe !== undefined) field.subscribe = authorizeFirst(action, field.subscribe);
      else if (field.resolve !== undefined) field.resolve = authorizeFirst(action, field.resolve);
    }
  }
  return schema;
}

function authorizeFirst(action: Action, resolve: Resolver): Resolver {
  return (root, args, context, info) => {
    authorize(context.memory, action);
    return resolve(root, args, context, info);
  };
}
