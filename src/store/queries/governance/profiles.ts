import type { StoredProfile } from '../../../core/governance.ts';
import type { RankingProfile } from '../../../core/types.ts';
import type { SqlRow, SqlStatement } from '../../sql-database.ts';
import { sqlTime } from '../../sql-parameters.ts';

export interface ProfileRow extends SqlRow {
  name: string;
  kind: RankingProfile['kind'];
  /** As this product wrote it: the profile without its name and kind. */
  parameters: Omit<RankingProfile, 'name' | 'kind'>;
  created_at: Date;
  updated_at: Date;
}

export function toProfile(row: ProfileRow): StoredProfile {
  return {
    profile: { ...row.parameters, name: row.name, kind: row.kind } as RankingProfile,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

export function selectProfile(tenantId: string, name: string): SqlStatement {
  return {
    text: 'SELECT * FROM app.ranking_profiles WHERE tenant_id = $1 AND name = $2',
    values: [tenantId, name],
  };
}

export function selectProfiles(tenantId: string): SqlStatement {
  return {
    text: 'SELECT * FROM app.ranking_profiles WHERE tenant_id = $1 ORDER BY name COLLATE "C"',
    values: [tenantId],
  };
}

export function upsertProfile(tenantId: string, profile: RankingProfile, now: number): SqlStatement {
  const { name, kind, ...parameters } = profile;
  return {
    text: `INSERT INTO app.ranking_profiles (tenant_id, name, kind, parameters, created_at, updated_at)
      VALUES ($1, $2, $3, $4::text::jsonb, $5::timestamptz, $5::timestamptz)
      ON CONFLICT (tenant_id, name) DO UPDATE SET kind = excluded.kind, parameters = excluded.parameters,
        updated_at = excluded.updated_at
      RETURNING *`,
    values: [tenantId, name, kind, JSON.stringify(parameters), sqlTime(now)],
  };
}

export function deleteProfile(tenantId: string, name: string): SqlStatement {
  return {
    text: 'DELETE FROM app.ranking_profiles WHERE tenant_id = $1 AND name = $2 RETURNING name',
    values: [tenantId, name],
  };
}
