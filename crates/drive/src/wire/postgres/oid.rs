//! Type OIDs from PostgreSQL's catalogue (`pg_type.dat`).

pub const INT8: u32 = 20;
pub const INT2: u32 = 21;
pub const INT4: u32 = 23;
pub const FLOAT4: u32 = 700;
pub const FLOAT8: u32 = 701;
pub const VARCHAR: u32 = 1043;
pub const TIMESTAMP: u32 = 1114;
