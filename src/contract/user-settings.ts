import { z } from 'zod';
import { KEY_SCOPES } from '../core/governance.ts';

const allowAdminMemory = z.boolean().meta({
  description: "Whether administrators may read this user's private namespaces. Every such read is audited.",
});

/** What a user may decide about their own memory. */
export const userSettingsSchema = z
  .strictObject({ allow_admin_memory: allowAdminMemory })
  .transform(({ allow_admin_memory }) => ({ allowAdminMemory: allow_admin_memory }));

/** Who asks, as the server sees it. */
export const wireUserSchema = z
  .strictObject({
    tenant_id: z.string(),
    user_id: z.string(),
    scopes: z.array(z.enum(KEY_SCOPES)),
    allow_admin_memory: allowAdminMemory,
  })
  .meta({ id: 'User' });

export const wireUserSettingsSchema = z
  .strictObject({ user_id: z.string(), allow_admin_memory: allowAdminMemory })
  .meta({ id: 'UserSettings' });
