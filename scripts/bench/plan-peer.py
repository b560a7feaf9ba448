# What Netflix's service-capacity-modeling plans for workloads: JSON in, JSON out. One key an item; it has no data models.
import json
import sys

from service_capacity_modeling.capacity_planner import planner
from service_capacity_modeling.interface import (
    CapacityDesires,
    DataShape,
    FixedInterval,
    QueryPattern,
    certain_int,
)

found = []
for load in json.load(sys.stdin):
    size = certain_int(load["key_bytes"] + load["value_bytes"])
    desires = CapacityDesires(
        service_tier=1,
        query_pattern=QueryPattern(
            estimated_read_per_second=certain_int(0),
            estimated_write_per_second=certain_int(load["rate"]),
            estimated_mean_read_size_bytes=size,
            estimated_mean_write_size_bytes=size,
        ),
        data_shape=DataShape(
            estimated_state_item_count=certain_int(load["items"]),
            # Below its threshold: without synchronous durability.
            durability_slo_order=FixedInterval(low=10, mid=100, high=900),
        ),
    )
    plan = planner.plan_certain(
        model_name="org.netflix.valkey",
        region="us-east-1",
        desires=desires,
        extra_model_arguments={"valkey.key_size_bytes": load["key_bytes"]},
    )[0]
    cluster = plan.candidate_clusters.regional[0]
    terms = cluster.cluster_params
    found.append(
        {
            "node": cluster.instance.name,
            "nodes": cluster.count,
            "cpu_us": 1e6 / terms["valkey.simple_ops_per_second_per_node"],
            "memory_bytes": terms["valkey.item_payload_size_bytes"]
            + terms["valkey.item_memory_overhead_bytes"],
        }
    )
json.dump(found, sys.stdout)
