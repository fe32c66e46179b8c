"""The loss scaler that a policy asks for, as MindSpore's own objects with one face."""

from mindspore import amp

from ..loss_scaling import DynamicLossScaling, LossScaling, StaticLossScaling


def make_scaler(loss_scaling: LossScaling) -> amp.LossScaler:
    """A scaler with `scale(loss)`, `unscale(gradients)`, `adjust(finite)` and a `scale_value`.

    No scaling is a static scale of 1, which is exact, so training code needs no `if`. Gradients must be
    float32 before they are unscaled: 1e-3 / 65536 is 0 in float16.
    """
    if isinstance(loss_scaling, DynamicLossScaling):
        return amp.DynamicLossScaler(float(loss_scaling.initial), loss_scaling.factor, loss_scaling.window)
    if isinstance(loss_scaling, StaticLossScaling):
        return amp.StaticLossScaler(float(loss_scaling.scale))
    return amp.StaticLossScaler(1.0)
